import Foundation
import Testing

/// What is installed and packed, unpacked elsewhere and run there.
@Suite("Packages", .serialized, .timeLimit(.minutes(10)))
struct PackagingTests {
    private static let repository = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    @Test(
        "The packages have everything beside the program, which runs where they are unpacked",
        .enabled(if: Shell.has("dpkg-deb"), "dpkg-deb is not there: this is no Debian"))
    func packages() async throws {
        let folder = try TemporaryFolder()
        let build = FieldworkProcess.executable.deletingLastPathComponent().path
        let made = try await FieldworkProcess.run(
            [Self.repository.appending(path: "scripts/package").path, folder.url.path],
            environment: ["BUILD": build, "COMPRESSION": "none"], program: URL(filePath: "/bin/bash"))
        try #require(made.status == 0, "\(made.errors)")
        let files = made.text.split(separator: "\n").map(String.init)
        let deb = try #require(files.first { $0.hasSuffix(".deb") })
        let tar = try #require(files.first { $0.hasSuffix(".tar.gz") })
        let root = folder.url.appending(path: "root").path
        let list = folder.url.appending(path: "list").path
        try #require(
            await Shell.run(
                "dpkg-deb -c '\(deb)' > '\(list)' && dpkg-deb -x '\(deb)' '\(root)' && dpkg-deb -I '\(deb)' >> '\(list)'"
            )
                == 0)
        let content = try String(contentsOfFile: list, encoding: .utf8)
        for part in [
            "./usr/bin/fieldwork", "man1/fieldwork-publish.1.gz", "bash-completion/completions/fieldwork",
            "./etc/fieldwork/fieldwork.toml", "./lib/systemd/system/fieldwork.service", "grafana-dashboard.json",
            "fieldwork_FieldworkCollect.resources", "libgeos", "postinst",
        ] { #expect(content.contains(part), "\(part) is missing") }

        // Without an environment, as on another machine.
        let unpacked = folder.url.appending(path: "tar").path
        try #require(
            await Shell.run("mkdir '\(unpacked)' && tar -xzf '\(tar)' -C '\(unpacked)' --strip-components=1") == 0)
        for program in ["\(root)/usr/bin/fieldwork", "\(unpacked)/bin/fieldwork"] {
            let out = folder.url.appending(path: "out").path
            let data = folder.url.appending(path: UUID().uuidString).path
            let line = """
                cd / && env -i '\(program)' --version > '\(out)' && printf 'lon,lat\\n1,2\\n' > '\(data).csv' \
                && env -i '\(program)' publish '\(data).csv' --service T --data '\(data)' >> '\(out)' 2>&1
                """
            #expect(try await Shell.run(line) == 0)
            let text = try String(contentsOfFile: out, encoding: .utf8)
            #expect(text.hasPrefix("0.1.0") && text.contains("Published T: 1 feature"), "\(text)")
            let checked = try await Shell.run(
                "env -i '\(program)' config check '\(root)/etc/fieldwork/fieldwork.toml' > /dev/null")
            #expect(checked == 0)
        }
        let page = "\(root)/usr/share/man/man1/fieldwork-serve.1.gz"
        if Shell.has("man") {
            #expect(try await Shell.run("LC_ALL=C.UTF-8 man --warnings -l '\(page)' 2>&1 >/dev/null | (! grep .)") == 0)
        }
    }

    @Test(
        "The unit of systemd is one, and gives the server few rights",
        .enabled(if: Shell.has("systemd-analyze"), "systemd-analyze is not there"))
    func unit() async throws {
        let folder = try TemporaryFolder()
        let out = folder.url.appending(path: "out").path
        let unit = Self.repository.appending(path: "Packaging/fieldwork.service").path
        _ = try await Shell.run("systemd-analyze verify '\(unit)' > '\(out)' 2>&1")
        let problems = try String(contentsOfFile: out, encoding: .utf8).split(separator: "\n").filter {
            // The program and its pages are not installed here.
            $0.contains("fieldwork.service") && !$0.contains("is not executable") && !$0.contains("'man ")
        }
        #expect(problems.isEmpty, "\(problems)")
        #expect(
            try await Shell.run("systemd-analyze security --offline=true --threshold=25 '\(unit)' > /dev/null") == 0)
    }
}
