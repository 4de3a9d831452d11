"""What sessions used, from the ledger and from transcripts: counted once, priced, and every broken cache explained."""
