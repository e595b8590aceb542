"""Speech engines: the folder is the extension point. Nothing here is imported by the API process."""
