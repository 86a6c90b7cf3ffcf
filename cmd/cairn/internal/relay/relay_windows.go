package relay

// Hand returns: hooks use no server on Windows.
func Hand() {}
