"""Tree to verdict: `structure` compares two answers of any kind, part by part, down to the single values of `scalar`."""
