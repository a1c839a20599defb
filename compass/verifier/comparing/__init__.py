"""Tree to verdict: `answers` compares two whole answers, `structure` any two parts as they are, down to the single values of `scalar`."""
