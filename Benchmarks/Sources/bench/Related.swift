import BenchResults
import Foundation

/// 100,000 features with a related row each: asked for, and taken offline over loopback.
struct Related {
    private static let port: UInt16 = 18_491
    private static let count = 100_000

    var bench: Bench
    var folder: URL
    /// The tables as they were before they became a service.
    private var floor: URL { folder.appending(path: "related-floor.gpkg") }

    func run() throws {
        guard let ogr2ogr = Offline.tool("ogr2ogr") else {
            return print("related rows: not measured, GDAL's ogr2ogr is not installed")
        }
        let store = folder.appending(path: "related")
        try publish(to: store, ogr2ogr)
        let server = try ServerProcess(executable: bench.executable, data: store, port: Self.port)
        defer { server.stop() }
        try RelatedQueries(bench: bench, port: Self.port, floorPath: floor.path, count: Self.count).run()
        var times = Rounds()
        for round in 0..<max(bench.rounds, 3) {
            let area = folder.appending(path: "related-\(round).gpkg")
            let started = ContinuousClock.now
            try Offline.take("http://127.0.0.1:\(Self.port)\(Offline.service)", to: area, bench.executable)
            times.add(started.duration(to: .now) / .seconds(1))
            try FileManager.default.removeItem(at: area)
        }
        bench.report(.relatedOffline, times, rows: Self.count)
    }

    /// Trees and one inspection of each, related by the tree's number.
    private func publish(to store: URL, _ ogr2ogr: URL) throws {
        let (trees, inspections) = (folder.appending(path: "trees.csv"), folder.appending(path: "inspections.csv"))
        var data = TreeData()
        var (treeText, inspectionText) = ("x,y,number,species,height\n", "tree,year,condition\n")
        for number in 1...Self.count {
            let tree = data.next()
            treeText += "\(tree.x),\(tree.y),\(number),\(tree.species),\(tree.height)\n"
            inspectionText += "\(number),\(tree.plantedYear),\(tree.condition)\n"
        }
        try Data(treeText.utf8).write(to: trees)
        try Data(inspectionText.utf8).write(to: inspections)
        let file = folder.appending(path: "related.gpkg")
        let types = ["-oo", "AUTODETECT_TYPE=YES"]
        try runToEnd(
            ogr2ogr,
            ["-f", "GPKG", file.path, trees.path, "-nln", "Trees", "-a_srs", "EPSG:3857"] + types
                + ["-oo", "X_POSSIBLE_NAMES=x", "-oo", "Y_POSSIBLE_NAMES=y"])
        try runToEnd(ogr2ogr, ["-update", "-f", "GPKG", file.path, inspections.path, "-nln", "Inspections"] + types)
        try FileManager.default.copyItem(at: file, to: floor)
        try runToEnd(bench.executable, ["publish", file.path, "--service", "Trees", "--data", store.path])
        let document = folder.appending(path: "related.json")
        try Data(Self.definition.utf8).write(to: document)
        try runToEnd(
            bench.executable,
            ["service", "edit", "Trees", "--merge", "--file", document.path, "--data", store.path])
    }

    private static let definition = """
        {"capabilities":"Query,Create,Update,Delete,Editing,Sync,ChangeTracking","layers":[{"id":0,"relationships":[\
        {"id":0,"name":"Inspections","relatedTableId":1,"cardinality":"esriRelCardinalityOneToMany",\
        "role":"esriRelRoleOrigin","keyField":"number"}]}],"tables":[{"id":1,"relationships":[\
        {"id":0,"name":"Trees","relatedTableId":0,"cardinality":"esriRelCardinalityOneToMany",\
        "role":"esriRelRoleDestination","keyField":"tree"}]}]}
        """
}
