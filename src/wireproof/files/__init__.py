"""The only modules that open and create files, folders and standard streams that other users may
have prepared. They also search for programs, because PATH may contain a folder of another user.
"""
