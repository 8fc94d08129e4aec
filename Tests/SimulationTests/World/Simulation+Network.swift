import FieldworkREST
import FieldworkStore
import Foundation

@testable import Fieldwork

/// Who decides what becomes of requests.
protocol SimulatedLine: Sendable {
    /// Brings a request to the server, and its answer back to the process that sent it.
    func carry(_ sent: SimulatedServer.Order, for process: SimulatedProcess) async throws -> SimulatedServer.Reply
    /// Whether the line breaks in the midst of a long answer.
    func cuts() async -> Bool
}

/// The way between a device and the server, as the device's process sees it.
struct SimulatedNetwork: ServiceClient, FileDownloading {
    let simulation: any SimulatedLine
    let name: String
    let process: SimulatedProcess
    let takesDocument: Bool
    /// One after the other: a seed always tells the same story.
    let filesAtOnce = 1

    func answer(to request: Fieldwork.ServiceRequest) async throws -> ServiceAnswer {
        let path = String(request.url.absoluteString.dropFirst(SimulatedServer.origin.count))
        var order = SimulatedServer.Order(
            address: path, form: request.form, isRead: request.isRead, editor: name)
        if let file = request.file {
            // Whoever has global ids sends no forms of several parts.
            guard file.part.isEmpty else { throw SimulatedNetwork.lost }
            let bytes = try Data(contentsOf: file.url).dropFirst(Int(file.offset)).prefix(Int(file.size))
            order.stretch = Array(bytes)
            if await simulation.cuts() {
                order.stretch = Array(bytes.prefix(bytes.count / 2))
                _ = try await simulation.carry(order, for: process)
                throw SimulatedNetwork.lost
            }
        }
        var reply = try await simulation.carry(order, for: process)
        if order.isAboutDefinition, takesDocument {
            let text = String(decoding: reply.bytes, as: UTF8.self)
            reply.bytes = Array(
                text.replacing(#""supportsGeoPackage":true"#, with: #""supportsGeoPackage":false"#).utf8)
        }
        return ServiceAnswer(bytes: reply.bytes, contentType: "application/json")
    }

    func download(
        _ url: URL, to file: URL, progress: @Sendable (_ there: Int64, _ whole: Int64?) -> Void
    ) async throws {
        guard !process.watch.isFull else { throw CocoaError(.fileWriteOutOfSpace) }
        if !FileManager.default.fileExists(atPath: file.path) { try Data().write(to: file) }
        let handle = try FileHandle(forWritingTo: file)
        defer { try? handle.close() }
        let there = Int64(try handle.seekToEnd())
        let order = SimulatedServer.Order(
            address: String(url.absoluteString.dropFirst(SimulatedServer.origin.count)), form: "", isRead: true,
            editor: name, offset: there)
        let reply = try await simulation.carry(order, for: process)
        if reply.status == 416, there > 0 { return }
        guard [200, 206].contains(reply.status) else {
            throw Fieldwork.ServiceError.serverFailure(details: "status \(reply.status)")
        }
        if reply.status == 200 { try handle.truncate(atOffset: 0) }
        guard await simulation.cuts() else { return try handle.write(contentsOf: Data(reply.bytes)) }
        try handle.write(contentsOf: Data(reply.bytes.prefix(reply.bytes.count / 2)))
        throw SimulatedNetwork.lost
    }

    /// Nobody else needs the line meanwhile.
    func wait(beforeAttempt attempt: Int) async throws { await Task.yield() }

    static let lost = Fieldwork.ServiceError.connectionFailed(details: "lost in the simulation")
}

/// What becomes of a request.
enum Fate: CaseIterable {
    /// The request does not arrive.
    case lost
    /// It arrives when nobody waits for it any more.
    case late
    /// It is done, and nobody learns of it.
    case answerLost
    /// It arrives twice; either answer may be the one that is seen.
    case doubled
    /// It arrives, and once more much later.
    case echoed
    /// The device dies before it is done, or after.
    case diesBefore, diesAfter
}

/// What becomes of requests and answers.
extension Simulation: SimulatedLine {
    func cuts() -> Bool { chance(plan.faultsPerMille * 2) }

    func carry(_ sent: SimulatedServer.Order, for process: SimulatedProcess) async throws -> SimulatedServer.Reply {
        guard !process.isDead else { throw SimulatedNetwork.lost }
        // What a service says of itself is asked for in several requests at once: their order is nobody's to decide.
        if sent.isAboutDefinition { return try await server.answer(sent) }
        let order = sabotage?.change(sent, generation: toldGeneration) ?? sent
        let fate = chance(plan.faultsPerMille * 3) ? pick(Fate.allCases) : nil
        let isDelayed = chance(plan.faultsPerMille * 2)
        if isDelayed { await interlude() }
        if let line = order.summary { note("  \(line)") }
        if let fate { note("  \(order.editor) \(order.address.split(separator: "/").last ?? ""): \(fate)") }
        var reply: SimulatedServer.Reply?
        switch fate {
        case .lost: break
        case .late: late.append(order)
        case .answerLost: _ = await serve(order)
        case .doubled:
            let first = await serve(order)
            let second = await serve(order)
            reply = chance(500) ? first : second
        case .echoed:
            late.append(order)
            reply = await serve(order)
        case .diesBefore: process.kill()
        case .diesAfter:
            _ = await serve(order)
            process.kill()
        case nil: reply = await serve(order)
        }
        if isDelayed { await interlude() }
        guard let reply, !process.isDead else { throw SimulatedNetwork.lost }
        return sabotage?.change(reply, of: order) ?? reply
    }

    /// Has a request done. nil when the server dies over it.
    func serve(_ order: SimulatedServer.Order) async -> SimulatedServer.Reply? {
        let asked = server
        let dies = chance(plan.crashesPerMille)
        if dies { asked.process.killLater(after: number(0...40)) }
        do {
            let before = sabotage?.losesCommits == true ? try copyOfServer() : nil
            let reply = try await asked.answer(order)
            asked.process.spare()
            guard let remains = asked.process.remains else {
                toldGeneration = max(toldGeneration, try await asked.store.generation(of: OrchardService.name))
                try await sabotage?.change(asked.store, counter: counter)
                // What a server that acknowledges too early falls back to is older than its last answer.
                if let earlier { try discard(earlier) }
                earlier = before
                return reply
            }
            note("server dies over \(order.editor) \(order.address.split(separator: "/").last ?? "")")
            await restartServer(from: earlier ?? remains)
            earlier = nil
            return nil
        } catch {
            complain(.workGoesOn, "the server throws \(error)")
            return nil
        }
    }
}
