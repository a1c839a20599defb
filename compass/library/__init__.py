"""What commands do and `import compass` offers: curation, scores and histories as functions that return data and print nothing."""
