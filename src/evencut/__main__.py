"""`python -m evencut` is the command `evencut`."""

from evencut.cli import main

if __name__ == "__main__":
    main()
