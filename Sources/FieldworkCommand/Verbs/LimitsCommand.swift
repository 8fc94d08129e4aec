import ArgumentParser

/// `fieldwork limits`.
struct LimitsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "limits", abstract: "List every limit: what Fieldwork refuses to exceed, and why.",
        discussion: """
            One line a limit: module, name, value with its unit, meaning; separated by tabs.

            EXAMPLES
              fieldwork limits
              fieldwork limits | grep FieldworkServer
            """)

    func run() async throws {
        try await runVerb {
            for limit in LimitTable.limits {
                Terminal.output("\(limit.module)\t\(limit.name)\t\(limit.amount) \(limit.unit)\t\(limit.meaning)")
            }
        }
    }
}
