"""The program `indefinite-opt`: it calls the public functions, and prints what they return.

`app` puts the commands together, each of which stands in the file of its name; `options` holds what
several of them take, and `terminal` how they print. No other room imports anything from here.
"""
