"""Prints how a C++ program finds the headers and the library of this Python."""

import sysconfig

folder = sysconfig.get_config_var("LIBDIR")
version = sysconfig.get_config_var("LDVERSION")
print(f"-I{sysconfig.get_path('include')} -L{folder} -Wl,-rpath,{folder} -lpython{version}")  # noqa: T201
