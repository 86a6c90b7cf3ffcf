package httpapi

// openCodePrefix is below what three operations speak OpenCode's JSON.
const openCodePrefix = "/opencode"

func (s *Server) openCodeRoutes() {}
