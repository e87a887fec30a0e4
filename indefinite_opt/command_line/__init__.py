"""The program `indefinite-opt`: it calls the public functions, and prints what they return.

`app` puts the commands together; `options` holds what several of them read, and `terminal` what
they print and write. No other folder imports anything from here.
"""
