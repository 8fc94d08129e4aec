import Foundation

/// The kind of machine that a result was taken on. Ratios of different kinds are not compared.
package struct Machine: Codable, Equatable, Sendable {
    package var processor: String
    package var cores: Int

    package init(processor: String, cores: Int) { (self.processor, self.cores) = (processor, cores) }

    package static func current() -> Machine {
        let information = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)) ?? ""
        let line = information.split(separator: "\n").first { $0.hasPrefix("model name") || $0.hasPrefix("Model") }
        let processor = line?.split(separator: ":", maxSplits: 1).last?.trimmingCharacters(in: .whitespaces)
        return Machine(
            processor: processor ?? "not known", cores: ProcessInfo.processInfo.activeProcessorCount)
    }

    /// How many processes wanted a processor, on average over one, five and fifteen minutes: it tells whether other programs ran.
    package static func load() -> [Double] {
        let text = (try? String(contentsOfFile: "/proc/loadavg", encoding: .utf8)) ?? ""
        return text.split(separator: " ").prefix(3).compactMap { Double($0) }
    }
}
