use proptest::prelude::*;

use super::*;
use crate::definitions::transfer::TransferSize;
use crate::lines::{Reader, Substitutes};
use candor_front::{Environment, Texts};

struct Only<'a>(&'a str);

impl Environment for Only<'_> {
    fn file(&mut self, _: &str) -> std::io::Result<Vec<u8>> {
        Ok(self.0.as_bytes().to_vec())
    }

    fn variable(&self, _: &str) -> Option<String> {
        None
    }
}

/// The definitions of a text, and all that is told about it.
fn parsed(text: &str) -> (ParameterFile, Vec<String>) {
    let (mut texts, mut substitutes) = (Texts::default(), Substitutes::default());
    let mut only = Only(text);
    let mut reader = Reader::new(&mut only, &mut texts, &mut substitutes);
    reader.file("f", None);
    let lines = reader.finish(None);
    let read = read(lines);
    let told = read.errors.iter().chain(&read.remarks);
    let told = told.map(|told| told.describe(&texts)).collect();
    (read.file, told)
}

fn good(text: &str) -> ParameterFile {
    let (file, told) = parsed(text);
    assert_eq!(told, [""; 0], "{text}");
    file
}

#[test]
fn definitions_take_their_defaults_and_nothing_else() {
    let file = good(
        "compratio=2\nsd=default,threads=16\nsd=sd1,lun=/a\nsd=sd2,lun=/b,threads=4\n\
         sd=default,size=1g\nsd=sd3,lun=/c\n\
         wd=default,xf=16k\nwd=w1,sd=sd*,rd=50\nwd=w2,sd=(sd1-sd3),seekpct=seq\nrd=r,wd=*,io=max\n"
            .replace("rd=50", "rdpct=50")
            .as_str(),
    );
    let threads: Vec<_> = file.sds.all.iter().map(|sd| sd.options.threads).collect();
    assert_eq!(threads, [16, 4, 16]);
    let sizes: Vec<_> = file.sds.all.iter().map(|sd| sd.options.size.is_some()).collect();
    assert_eq!(sizes, [false, false, true]);
    assert_eq!(file.general().options.compression_ratio, 2.0);
    let wd = &file.wds.find("w1").expect("w1").options;
    assert_eq!((wd.transfer_size.clone(), wd.read_percent), (TransferSize::Fixed(16384), 50.0));
    assert_eq!(file.wds.find("w2").expect("w2").options.sds, ["sd1", "sd2", "sd3"]);
    assert!(file.sds.find("default").is_none());
}

#[test]
fn one_parameter_on_each_line_is_the_same() {
    let short = good("sd=s,lun=/a,size=1m\nwd=w,sd=s,xf=(4k,50,8k,50)\nrd=r,wd=w,io=5\n");
    let long =
        good("sd=s\nlun=/a\n size=1m\n\nwd=w,\nsd=s\nxf=(4k,\n50,8k,50)\nrd=r\nwd=w\nio=5\n");
    assert_eq!(short.sds.all[0].options, long.sds.all[0].options);
    assert_eq!(short.wds.all[0].options, long.wds.all[0].options);
    assert_eq!(short.rds.all[0].options, long.rds.all[0].options);
}

#[test]
fn counts_make_numbered_definitions() {
    let file = good(
        "sd=sd,lun=/d/file,count=(5,3)\nsd=a*_x,lun=/d/f%02d,count=(1,2)\nwd=w,sd=*\n\
         rd=r,wd=w,io=1\n",
    );
    let names: Vec<_> = file.sds.all.iter().map(|sd| sd.name.text.as_str()).collect();
    assert_eq!(names, ["sd5", "sd6", "sd7", "a1_x", "a2_x"]);
    let luns: Vec<_> = file.sds.all.iter().map(|sd| sd.options.luns[0].as_str()).collect();
    assert_eq!(luns, ["/d/file5", "/d/file6", "/d/file7", "/d/f01", "/d/f02"]);
}

#[test]
fn hosts_and_clients_repeat_definitions() {
    let file = good(
        "hd=default,user=root\nhd=a,system=localhost,clients=2\n\
         sd=sd_$host,lun=/d/$host.#host,\nsize=#hostsm\nwd=w_!host,sd=sd_!host\nrd=r,wd=w*,io=1\n",
    );
    let labels: Vec<_> = file.hosts.iter().map(|host| host.label.as_str()).collect();
    assert_eq!(labels, ["a_cl0", "a_cl1"]);
    let luns: Vec<_> = file.sds.all.iter().map(|sd| sd.options.luns[0].as_str()).collect();
    assert_eq!(luns, ["/d/a_cl0.0", "/d/a_cl1.1"]);
    assert_eq!(file.sds.all[1].options.size, Some(2.0 * 1024.0 * 1024.0));
    let wds: Vec<_> =
        file.wds.all.iter().map(|wd| (wd.name.text.as_str(), wd.options.sds[0].as_str())).collect();
    assert_eq!(wds, [("w_a_cl0", "sd_a_cl0"), ("w_a_cl1", "sd_a_cl1")]);
    let alone = good("sd=s,lun=/a\nwd=w,sd=s\nrd=r,wd=w,io=1\n");
    assert_eq!(alone.hosts.len(), 1);
}

#[test]
fn file_systems_have_their_definitions() {
    let file = good(
        "fsd=default,depth=2,width=3,files=100,size=(4k,60,64k,40)\nfsd=f,anchor=/d,count=(1,2)\n\
         fwd=default,xfersize=8k,threads=4,fileio=random,fileselect=(poisson,5)\n\
         fwd=format,threads=2\nfwd=w,fsd=f*,operation=write,rdpct=10\n\
         rd=r,fwd=w,fwdrate=max,format=(restart,only),foroperations=(read,write)\n",
    );
    assert_eq!(file.fsds.all.len(), 2);
    assert_eq!(file.fsds.all[1].options.anchor.as_deref(), Some("/d2"));
    let format = file.format.as_ref().expect("a format");
    assert_eq!(format.options.transfer_size, TransferSize::Fixed(128 << 10));
    assert_eq!((format.options.threads, file.fwds.all.len()), (2, 1));
    let fwd = &file.fwds.all[0].options;
    assert!(fwd.file_io.random && fwd.file_select.poisson == Some(5.0));
    assert!(file.is_of_files());
}

#[test]
fn faults_are_told_together_with_place_and_remedy() {
    let told = |text: &str| parsed(text).1;
    let rest = "wd=w,sd=s\nrd=r,wd=w,io=1\n";
    assert_eq!(
        told(&format!("sd=s,lun=/a,thraeds=4,size=4x\nsd=s,lun=/b\n{rest}")),
        [
            "f:1:13: a storage definition has no parameter `thraeds`; did you mean `threads`? \
             `candor options vdbench` has all parameters",
            "f:1:28: size: `4x` is no number; give digits, optionally followed by k, m, g, t or %",
            "f:2:1: sd=s is defined twice; give one of them another name",
        ]
    );
    assert_eq!(
        told("sd=s,lun=/a,xfersize=4k\nwd=w,sd=s,lun=/b\nrd=r,wd=w,io=1,threads=x\n"),
        [
            "f:1:13: a storage definition has no parameter `xfersize`; it belongs to wd= or rd=",
            "f:2:11: a workload has no parameter `lun`; it belongs to sd=",
            "f:3:24: threads: `x` is no number; give digits, optionally followed by k, m, g, t or \
             %",
        ]
    );
    assert_eq!(
        told("wd=w,sd=s\nsd=s,lun=/a\nhd=x\nrd=r,wd=w,io=1\n")[..1],
        ["f:2:6: a workload has no parameter `lun`; it belongs to sd="]
    );
    assert_eq!(
        told("s=x\nsd=s,lun\nsize=1,,th=2,off=4)\nwd=w,sd=s,xf=(4k,\nrd=r"),
        [
            "f:1:1: `s` is no keyword: it has less than 2 letters; write more of it",
            "f:2:6: `lun` is no parameter; write keyword=value",
            "f:3:8: there is no parameter between two commas; remove one of them",
            "f:3:19: the parenthesis closes nothing; remove it",
            "f:3:18: offset: `4)` is no number; give digits, optionally followed by k, m, g, t or \
             %",
            "f:4:14: xfersize: `rd=r` is no number; give digits, optionally followed by k, m, g, t \
             or %",
            "f:4:14: the parenthesis is not closed; the rest of the line belongs to its list",
        ]
    );
}

#[test]
fn percentages_of_compression_have_become_ratios() {
    let (file, told) = parsed(
        "compression=40\nsd=s,lun=/a\nwd=w,sd=s\nrd=default,forcompression=(50,100)\n\
         rd=r,wd=w,io=1\nrd=q,wd=w,io=1\n",
    );
    assert_eq!(file.general().options.compression_ratio, 2.5);
    assert_eq!(
        told,
        [
            "f:1:13: compression=40, in percent, is compratio=2.50 today: 100 divided by it; write \
             compratio=",
            "f:4:27: forcompression=(50,100), in percent, is forcompratio=(2.00,1.00) today: 100 \
             divided by it; write forcompratio=",
        ]
    );
}

proptest! {
    #[test]
    fn anything_is_read_or_refused(
        text in "([a-z]{0,3}(sd|wd|rd|lun|xf|io|th|forx|hd|fsd)[=(,)0-9a-z\"*$ -]{0,20}\n?){0,8}"
    ) {
        let (file, _) = parsed(&text);
        if let Ok(runs) = crate::runs::expand(&file) {
            runs.iter().for_each(|run| drop(run.loops_text()));
        }
    }

    #[test]
    fn values_survive_layout(
        threads in 1u32..1000,
        size in 1u64..1000,
        breaks in prop::collection::vec(any::<bool>(), 4),
    ) {
        let parameters = [
            format!("lun=/a{threads}"),
            format!("threads={threads}"),
            format!("size={size}m"),
            "align=(4k)".to_owned(),
        ];
        let mut text = "* head\nsd=s".to_owned();
        for (parameter, broken) in parameters.iter().zip(breaks) {
            text.push_str(if broken { ",\n   " } else { "," });
            text.push_str(parameter);
        }
        text.push_str("\nwd=w,sd=s\nrd=r,wd=w,io=1\n");
        let (file, told) = parsed(&text);
        prop_assert_eq!(told, Vec::<String>::new());
        let sd = &file.sds.all[0].options;
        prop_assert_eq!((sd.threads, sd.size), (threads, Some(size as f64 * 1048576.0)));
    }
}
