"""A double of CosyVoice's package: its signatures, errors and odd habits, and a tone in place of a voice."""
