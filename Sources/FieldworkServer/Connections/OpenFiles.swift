import Foundation

/// How many files and connections the system lets this process have.
enum OpenFiles {
    /// Asks for all that it may have.
    /// - Returns: the number that it has; nil when the system does not say.
    static func raise() -> Int? {
        var limit = rlimit()
        #if canImport(Darwin)
            let resource = RLIMIT_NOFILE
        #else
            let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #endif
        guard getrlimit(resource, &limit) == 0 else { return nil }
        if limit.rlim_cur < limit.rlim_max {
            var raised = limit
            raised.rlim_cur = limit.rlim_max
            if setrlimit(resource, &raised) == 0 { limit = raised }
        }
        return Int(clamping: limit.rlim_cur)
    }

    /// The connections that may be open so that the store still finds files for its own work.
    static func connections(wanted: Int) -> Int {
        guard let files = raise() else { return wanted }
        return min(wanted, max(files - Limits.reservedFiles, files / 2))
    }
}
