"""Priority flow control: is it lossless, in the right priority, and who pauses whom? Pure."""
