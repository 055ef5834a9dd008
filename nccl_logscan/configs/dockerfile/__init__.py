"""Dockerfiles and Containerfiles: ENV, ARG, and what RUN and CMD run."""
