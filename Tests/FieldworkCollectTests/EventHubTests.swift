import Testing

@testable import FieldworkCollect

@Suite struct EventHubTests {
    private struct Body: Encodable {
        let text: String
    }

    @Test func aWindowThatWasAwayGetsWhatItMissed() async throws {
        let hub = EventHub()
        let before = hub.revision
        hub.send("announce", Body(text: "one"))
        hub.send("announce", Body(text: "two\nlines"))
        let stream = try #require(hub.events(after: before))
        hub.close()
        var seen: [EventHub.Event] = []
        for await event in stream { seen.append(event) }
        #expect(seen.map(\.name) == ["announce", "announce"])
        #expect(seen.map(\.revision) == [before + 1, before + 2])
        #expect(seen.allSatisfy { !$0.data.contains("\n") })
    }

    @Test func aWindowThatWasAwayTooLongLoadsEverythingAgain() async throws {
        let hub = EventHub()
        for index in 0...(Limits.keptEvents + 5) { hub.send("announce", Body(text: "\(index)")) }
        let stream = try #require(hub.events(after: 1))
        hub.close()
        var seen: [String] = []
        for await event in stream { seen.append(event.name) }
        #expect(seen == ["reset"])
    }

    @Test func aNewWindowGetsOnlyWhatComes() async throws {
        let hub = EventHub()
        hub.send("announce", Body(text: "before"))
        let stream = try #require(hub.events(after: nil))
        hub.send("announce", Body(text: "after"))
        hub.close()
        var seen: [String] = []
        for await event in stream { seen.append(event.data) }
        #expect(seen == ["{\"text\":\"after\"}"])
    }

    @Test func windowsAreCounted() throws {
        let hub = EventHub()
        let streams = (0..<Limits.windows).compactMap { _ in hub.events(after: nil) }
        #expect(streams.count == Limits.windows)
        #expect(hub.events(after: nil) == nil)
    }
}
