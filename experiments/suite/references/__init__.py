"""What the problems are compared with where no formula says it: classical methods.

Every function returns a `Reference` of two resolutions; none of them knows of networks.
"""
