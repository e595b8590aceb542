"""Output formats: the folder is the extension point; each module has a `FORMAT`."""
