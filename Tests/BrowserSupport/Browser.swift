package import Foundation
import Synchronization

/// Chromium without a window, driven over its debugging protocol.
package final class Browser: Sendable {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    package static let program = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    private let process: Process
    private let folder: URL
    private let socket: LoopbackSocket
    private let next = Mutex(0)
    /// What went wrong in the page: exceptions, refused loads.
    private let complaints = Mutex<[String]>([])
    private let queue = DispatchQueue(label: "fieldwork.tests.browser")

    private init(process: Process, folder: URL, socket: LoopbackSocket) {
        self.process = process
        self.folder = folder
        self.socket = socket
    }

    package static func start(width: Int = 1_280, height: Int = 800) async throws -> Browser {
        guard let program else { throw Failure(description: "Chromium isn't installed") }
        let folder = FileManager.default.temporaryDirectory.appending(path: "fieldwork-browser-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let process = Process()
        process.executableURL = URL(filePath: program)
        process.arguments = [
            "--headless=new", "--no-sandbox", "--remote-debugging-port=0", "--user-data-dir=\(folder.path)",
            "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--hide-scrollbars", "about:blank",
        ]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        do {
            let port = try await port(in: folder)
            let target = try await target(port: port)
            let socket = try await onThread { try open(target, port: port) }
            let browser = Browser(process: process, folder: folder, socket: socket)
            for domain in ["Page", "Runtime", "Log", "Network"] { try await browser.command("\(domain).enable") }
            try await browser.resize(width: width, height: height)
            return browser
        } catch {
            process.terminate()
            try? FileManager.default.removeItem(at: folder)
            throw error
        }
    }

    package func stop() {
        process.terminate()
        process.waitUntilExit()
        try? FileManager.default.removeItem(at: folder)
    }

    /// The port that the browser chose, once it has written it.
    private static func port(in folder: URL) async throws -> Int {
        let file = folder.appending(path: "DevToolsActivePort")
        for _ in 0..<300 {
            if let text = try? String(contentsOf: file, encoding: .utf8),
                let port = text.split(separator: "\n").first.flatMap({ Int($0) })
            {
                return port
            }
            try await Task.sleep(for: .milliseconds(100))
        }
        throw Failure(description: "the browser didn't start")
    }

    private static func target(port: Int) async throws -> String {
        struct Target: Decodable {
            let type: String
            let webSocketDebuggerUrl: String
        }
        for _ in 0..<100 {
            let answer = try await PlainClient(port: port).get("/json")
            let targets = try JSONDecoder().decode([Target].self, from: Data(answer.body))
            if let page = targets.first(where: { $0.type == "page" }),
                let path = page.webSocketDebuggerUrl.split(separator: String(port), maxSplits: 1).last
            {
                return String(path)
            }
            try await Task.sleep(for: .milliseconds(100))
        }
        throw Failure(description: "the browser has no page")
    }

    private static func open(_ path: String, port: Int) throws -> LoopbackSocket {
        let socket = try LoopbackSocket(port: port, timeoutSeconds: 60)
        let key = Data((0..<16).map { _ in UInt8.random(in: 0...255) }).base64EncodedString()
        let head =
            "GET \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Key: \(key)\r\nSec-WebSocket-Version: 13\r\n\r\n"
        try socket.write(Array(head.utf8))
        guard try socket.readHead().contains(" 101 ") else { throw Failure(description: "no debugging connection") }
        return socket
    }

    // MARK: The protocol

    private struct Reply: Decodable {
        struct Problem: Decodable {
            let message: String
        }
        let id: Int?
        let method: String?
        let error: Problem?
    }

    /// Sends a command and waits for its answer; the answer's bytes.
    @discardableResult
    /// - Parameter patience: how long its answer is waited for, in seconds.
    package func command(
        _ method: String, _ parameters: [String: any Encodable & Sendable] = [:], patience: Double = 60
    ) async throws -> Data {
        let id = next.withLock { next in
            next += 1
            return next
        }
        let values = try parameters.map { key, value in
            let bytes = try JSONEncoder().encode(Wrapped(value: value))
            return "\"\(key)\":\(String(decoding: bytes.dropFirst(9).dropLast(), as: UTF8.self))"
        }
        let text = "{\"id\":\(id),\"method\":\"\(method)\",\"params\":{\(values.joined(separator: ","))}}"
        return try await withCheckedThrowingContinuation { continuation in
            queue.async { [self] in
                continuation.resume(
                    with: Result { try exchange(id: id, text: text, method: method, patience: patience) })
            }
        }
    }

    /// Its encoding is `{"value":…}`: nine bytes before the value, one after it.
    private struct Wrapped: Encodable {
        let value: any Encodable & Sendable

        enum CodingKeys: CodingKey { case value }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(value, forKey: .value)
        }
    }

    private func exchange(id: Int, text: String, method: String, patience: Double) throws -> Data {
        try socket.write(Self.frame(Array(text.utf8)))
        let deadline = ContinuousClock.now + .seconds(patience)
        while true {
            guard let bytes = socket.takeMessage() else {
                let left = ContinuousClock.now.duration(to: deadline)
                guard left > .zero, try socket.waitForMore(seconds: Double(left.components.seconds) + 0.1) else {
                    throw Failure(description: "\(method) had no answer")
                }
                continue
            }
            let message = Data(bytes)
            let reply = try JSONDecoder().decode(Reply.self, from: message)
            if reply.id == id {
                if let error = reply.error { throw Failure(description: "\(method): \(error.message)") }
                return message
            }
            if let event = reply.method, event == "Runtime.exceptionThrown" || event == "Log.entryAdded" {
                complaints.withLock { $0.append(String(decoding: message.prefix(900), as: UTF8.self)) }
            }
        }
    }

    private static func frame(_ payload: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = [0x81]
        switch payload.count {
        case ..<126: bytes.append(0x80 | UInt8(payload.count))
        case ..<65_536: bytes += [0xfe, UInt8(payload.count >> 8), UInt8(payload.count & 0xff)]
        default:
            bytes.append(0xff)
            for shift in stride(from: 56, through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: payload.count >> shift))
            }
        }
        let mask = (0..<4).map { _ in UInt8.random(in: 0...255) }
        return bytes + mask + payload.enumerated().map { $1 ^ mask[$0 % 4] }
    }

    // MARK: The page

    private struct Evaluation: Decodable {
        struct Outer: Decodable {
            let result: Inner
        }
        struct Inner: Decodable {
            let value: String?
            let description: String?
        }
        let result: Outer
    }

    /// The script's value, by way of JSON.
    package func evaluate<Value: Decodable & Sendable>(
        _ script: String, as type: Value.Type = Value.self, patience: Double = 60
    ) async throws -> Value {
        let data = try await command(
            "Runtime.evaluate",
            [
                "expression": "(async () => JSON.stringify([await (\(script))]))()", "awaitPromise": true,
                "returnByValue": true,
            ], patience: patience)
        let answer = try JSONDecoder().decode(Evaluation.self, from: data).result.result
        guard let value = answer.value else {
            throw Failure(description: "\(script): \(answer.description ?? "no value")")
        }
        let values = try JSONDecoder().decode([Value].self, from: Data(value.utf8))
        guard let first = values.first else { throw Failure(description: "\(script) has no value") }
        return first
    }

    /// Waits until the script says true. A page that is being left has no answer; that counts as no.
    package func wait(_ script: String, seconds: Double = 20) async throws {
        let deadline = ContinuousClock.now + .seconds(seconds)
        while ContinuousClock.now < deadline {
            // The value may be promised. A page that is left takes the answer along: it is asked again soon.
            let answer = try? await evaluate("(async () => Boolean(await (\(script))))()", as: Bool.self, patience: 5)
            if answer == true { return }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw Failure(description: "never came true: \(script) \(complaints.withLock { $0.joined(separator: "\n") })")
    }

    /// What the page complained about since the last question, without what a test expects.
    package func takeComplaints() -> [String] {
        complaints.withLock { complaints in
            let taken = complaints
            complaints = []
            return taken
        }
    }

    package func open(_ address: String) async throws {
        try await command("Page.navigate", ["url": address])
    }

    package func resize(width: Int, height: Int, isPhone: Bool = false) async throws {
        try await command(
            "Emulation.setDeviceMetricsOverride",
            ["width": width, "height": height, "deviceScaleFactor": isPhone ? 2 : 1, "mobile": isPhone])
        try await command("Emulation.setTouchEmulationEnabled", ["enabled": isPhone])
    }

    /// Leaves the map out of the pages that are opened from now on: their layout is looked at, and drawing the map takes long.
    package func blockMap(_ isBlocked: Bool) async throws {
        try await command("Network.setBlockedURLs", ["urls": isBlocked ? ["*maplibre-gl.js*"] : [String]()])
    }

    package func click(x: Double, y: Double) async throws {
        for type in ["mouseMoved", "mousePressed", "mouseReleased"] {
            try await command(
                "Input.dispatchMouseEvent", ["type": type, "x": x, "y": y, "button": "left", "clickCount": 1])
        }
    }

    package func tap(x: Double, y: Double) async throws {
        struct Spot: Encodable, Sendable {
            let x: Double
            let y: Double
        }
        try await command("Input.dispatchTouchEvent", ["type": "touchStart", "touchPoints": [Spot(x: x, y: y)]])
        try await command("Input.dispatchTouchEvent", ["type": "touchEnd", "touchPoints": [Spot]()])
    }

    /// Clicks the middle of what the selector finds first.
    package func click(_ selector: String) async throws {
        let found = "document.querySelector('\(selector)')"
        try await untilHit(selector) {
            try await wait("\(found)?.getBoundingClientRect().width > 0")
            let place = try await placeAtRest {
                try await evaluate(
                    """
                    (() => { const e = \(found); e.scrollIntoView({ block: 'nearest' });
                    const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()
                    """, as: [Double].self)
            }
            _ = try await evaluate("(\(Self.aim)).call(\(found))", as: Bool.self)
            try await click(x: place[0], y: place[1])
        }
    }

    /// A place that is the same in two frames of a page that has been painted. Before its style sheets are there a page says the places
    /// of a layout without them, and Chromium hands it a click only when it is painted: at another place then.
    func placeAtRest(_ measure: () async throws -> [Double]) async throws -> [Double] {
        try await wait("document.readyState !== 'loading' && performance.getEntriesByType('paint').length > 0")
        var place = try await measure()
        for _ in 0..<40 {
            try await wait("new Promise(done => requestAnimationFrame(() => done(true)))")
            let now = try await measure()
            if now == place { return now }
            place = now
        }
        // What never rests, as on a map that flies, is clicked where it was last.
        return place
    }

    private static let keyCodes = [
        "Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Tab": 9,
    ]

    package func press(_ key: String) async throws {
        let code = Self.keyCodes[key] ?? key.uppercased().unicodeScalars.first.map { Int($0.value) } ?? 0
        var down: [String: any Encodable & Sendable] = [
            "type": "keyDown", "key": key, "code": key.count == 1 ? "Key\(key.uppercased())" : key,
            "windowsVirtualKeyCode": code,
        ]
        if key.count == 1 { down["text"] = key }
        if key == "Enter" { down["text"] = "\r" }
        try await command("Input.dispatchKeyEvent", down)
        try await command("Input.dispatchKeyEvent", ["type": "keyUp", "key": key, "windowsVirtualKeyCode": code])
    }

    package func type(_ text: String) async throws {
        try await command("Input.insertText", ["text": text])
    }

    /// Keeps a picture of the page in the folder that `FIELDWORK_SCREENSHOTS` names, or in a temporary one.
    @discardableResult
    package func screenshot(_ name: String) async throws -> Data {
        struct Answer: Decodable {
            struct Picture: Decodable {
                let data: String
            }
            let result: Picture
        }
        let reply = try await command("Page.captureScreenshot", ["format": "png"])
        let picture = try JSONDecoder().decode(Answer.self, from: reply).result.data
        guard let data = Data(base64Encoded: picture) else { throw Failure(description: "no picture") }
        let folder =
            ProcessInfo.processInfo.environment["FIELDWORK_SCREENSHOTS"].map { URL(filePath: $0) }
            ?? FileManager.default.temporaryDirectory.appending(path: "fieldwork-screenshots")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try data.write(to: folder.appending(path: "\(name).png"))
        return data
    }
}
