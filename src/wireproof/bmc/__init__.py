"""Talk Redfish to management controllers. Their answers are hostile input: bounded in size, number
and time. Redirects to other addresses are never followed.
"""
