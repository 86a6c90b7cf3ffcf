package relay

// Hand returns: hooks use no server on Windows.
func Hand() {}

// Program returns "": no call comes to a server.
func Program() string { return "" }
