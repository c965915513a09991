"""Computing answers: whose step is next, the step itself, and speculation."""
