"""What `tools/fuzz.py` is made of: cases, damage, judging, and workers that are watched from outside."""
