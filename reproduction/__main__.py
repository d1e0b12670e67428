"""`python -m reproduction FIGURE` is the command; `all` makes every figure."""

from .command import main

if __name__ == "__main__":
    main()
