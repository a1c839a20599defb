"""The subcommands of `compass`, one module each."""
