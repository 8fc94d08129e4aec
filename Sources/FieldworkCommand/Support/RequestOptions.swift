import ArgumentParser
import FieldworkServer

/// What one request may take.
struct RequestOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "How many seconds the work of one request may take; waiting does not count.", valueName: "seconds"))
    var requestTime = FieldworkServer.Limits.requestSeconds

    @Option(
        help: ArgumentHelp("How much memory the work of one request may hold, in MB.", valueName: "megabytes"))
    var requestMemory = FieldworkServer.Limits.requestMemoryBytes / megabyte

    private static let megabyte = 1_024 * 1_024

    func validate() throws {
        guard (1...86_400).contains(requestTime) else {
            throw ValidationError("--request-time must be 1 to 86400 seconds.")
        }
        guard (16...1_048_576).contains(requestMemory) else {
            throw ValidationError("--request-memory must be 16 to 1048576 MB.")
        }
    }

    func apply(to configuration: inout ServerConfiguration) {
        configuration.requestTime = .seconds(requestTime)
        configuration.requestMemory = requestMemory * Self.megabyte
        // One request at its limit leaves room for others.
        configuration.memory = max(configuration.memory, 2 * configuration.requestMemory)
        configuration.releaseMemory = AnswerMemory.giveBack
    }
}
