import ArgumentParser
import FieldworkGeometry

/// `fieldwork limits`.
struct LimitsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "limits", abstract: "List every limit: what Fieldwork refuses to exceed, and why.",
        discussion: """
            One line a limit: module, name, value with its unit, meaning; separated by tabs.

            EXAMPLES
              fieldwork limits
              fieldwork limits | grep FieldworkServer
              fieldwork limits --format json
            """)

    @OptionGroup var format: ListFormat

    func run() async throws {
        try await runVerb {
            let limits = LimitTable.limits
            try format.print(
                .array(
                    limits.map {
                        [
                            "module": .string($0.module), "name": .string($0.name), "amount": $0.amountJSON,
                            "unit": .string($0.unit), "meaning": .string($0.meaning),
                        ]
                    }),
                limits.map { "\($0.module)\t\($0.name)\t\($0.amount) \($0.unit)\t\($0.meaning)" })
        }
    }
}
