"""What the problems are compared with: classical methods, each at two resolutions.

Every function returns a `Reference`, computed once; none of them knows of networks.
"""
