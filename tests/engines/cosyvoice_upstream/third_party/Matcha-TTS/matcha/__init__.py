"""Stands for the submodule that CosyVoice imports from."""
