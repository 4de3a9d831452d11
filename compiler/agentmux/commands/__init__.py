"""One module per subcommand, each with `run(arguments, streams) -> exit code`."""
