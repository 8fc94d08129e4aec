public import Foundation

/// What a job tells while it runs.
public final class JobMessage: Sendable {
    /// How much it matters.
    public enum Severity: String, Sendable {
        /// Something to know, something to look at, something that failed.
        case info, warning, error
    }

    /// Who says it.
    public enum Source: String, Sendable {
        /// This device, or the service.
        case client, service
    }

    /// The text, for a person.
    public let message: String
    /// How much it matters.
    public let severity: Severity
    /// Who says it.
    public let source: Source
    /// When it was said.
    public let timestamp: Date

    init(_ message: String, severity: Severity = .info, source: Source = .client, timestamp: Date) {
        self.message = message
        self.severity = severity
        self.source = source
        self.timestamp = timestamp
    }
}
