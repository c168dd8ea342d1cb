"""From settings that are wrong to the changes that mend them. Pure."""
