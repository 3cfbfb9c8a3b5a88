"""Answers from your own documents, each sentence cited and each citation checked.

import ibid
with ibid.open("handbook.ibid") as library:
    library.sync("handbook/")
    print(library.ask("How long is parental leave?").text)
"""
