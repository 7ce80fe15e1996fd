"""What runs in interpreters of its own: `serve.py`, and an adapter per package. None of it imports likely."""
