"""One measurement: its launches, who is lost on the way, what is measured again, the verdict."""
