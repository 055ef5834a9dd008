"""The skim: of a large input the lines that are to be read, and how many others there are of which class.

    bytes → windows (windows.py) → a kernel (kernel.py, or plain.py where it was not built) → rounds (rounds.py)

The kernel asks once a shape what lines of that shape are (asking.py).
"""
