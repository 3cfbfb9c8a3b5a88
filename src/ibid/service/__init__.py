"""The service: a library over HTTP, for programs, chat clients and people with a browser.

`app.make_app` puts it together from a library and `options.ServeOptions`. Every route is the same
flow as at the command line, in a thread; who may do what is decided in one place, `access.py`.
"""
