"""What lint found, as text, JSON, SARIF, GitHub annotations, and the diff that mends it."""
