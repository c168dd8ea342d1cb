"""Files, folders and standard streams that somebody else may have prepared: the one place where
they are opened and made. Programs, which PATH may lead to in such a folder, are searched here too.
"""
