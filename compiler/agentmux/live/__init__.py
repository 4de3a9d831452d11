"""The live view of a run on a terminal. Nothing but this folder loads rich."""
