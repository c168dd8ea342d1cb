"""The only place that opens and creates files, folders and standard streams which others may have
prepared. Programs are searched here too, because PATH may lead to such a folder.
"""
