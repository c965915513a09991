"""What `config.json` and its neighbours say, made uniform and checked."""
