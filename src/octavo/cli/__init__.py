"""The command line: heavy imports happen inside commands, so that `octavo --help` stays quick."""
