(function () {
  'use strict';
  if (!window.echarts) return;
  var css = function (name) {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  };
  var number = function (v) {
    var size = Math.abs(v);
    if (size >= 1e9) return (v / 1e9).toFixed(size < 1e10 ? 2 : 1) + ' G';
    if (size >= 1e6) return (v / 1e6).toFixed(size < 1e7 ? 2 : 1) + ' M';
    if (size >= 1e4) return (v / 1e3).toFixed(size < 1e5 ? 1 : 0) + ' k';
    return size < 10 ? v.toFixed(2) : size < 100 ? v.toFixed(1) : v.toFixed(0);
  };
  var charts = [];

  function option(cell) {
    var ink = css('--ink'), soft = css('--soft'), line = css('--line');
    var colour = {quiesce: css('--ours'), java: css('--java'), native: css('--native')};
    var rows = cell.rows.slice().reverse(); // the axis grows upwards
    return {
      animation: false,
      textStyle: {fontFamily: 'system-ui, sans-serif', color: ink},
      grid: {left: 8, right: 70, top: 4, bottom: 24, containLabel: true},
      tooltip: {
        trigger: 'item',
        formatter: function (p) {
          var r = rows[p.dataIndex];
          return r.subject + '<br>' + number(r.median) + ' ' + cell.unit + ' (' + number(r.min) + ' to ' +
            number(r.max) + ', ' + r.runs + ' rounds)';
        }
      },
      xAxis: {
        type: cell.log ? 'log' : 'value',
        min: cell.log ? cell.floor : 0,
        name: cell.log ? 'logarithmic' : '', nameLocation: 'end', nameGap: 8,
        nameTextStyle: {color: soft, fontSize: 11},
        axisLabel: {color: soft, formatter: number, hideOverlap: true},
        splitLine: {lineStyle: {color: line}}
      },
      yAxis: {
        type: 'category',
        data: rows.map(function (r) { return r.subject; }),
        axisLine: {lineStyle: {color: line}}, axisTick: {show: false},
        axisLabel: {color: ink, interval: 0}
      },
      series: [{
        type: 'bar', barWidth: '58%',
        data: rows.map(function (r) {
          return {value: r.median, itemStyle: {color: colour[r.kind], borderRadius: [0, 3, 3, 0]}};
        })
      }, {
        type: 'custom', z: 5, silent: true, encode: {x: [1, 2], y: 0},
        data: rows.map(function (r, i) { return [i, r.min, r.max, r.median]; }),
        renderItem: function (params, api) {
          var low = api.coord([api.value(1), api.value(0)]), high = api.coord([api.value(2), api.value(0)]);
          var h = api.size([0, 1])[1] * 0.16, style = {stroke: ink, lineWidth: 1.2, fill: 'none'};
          var stroke = function (x1, y1, x2, y2) {
            return {type: 'line', shape: {x1: x1, y1: y1, x2: x2, y2: y2}, style: style};
          };
          return {type: 'group', children: [
            stroke(low[0], low[1], high[0], high[1]),
            stroke(low[0], low[1] - h, low[0], low[1] + h),
            stroke(high[0], high[1] - h, high[0], high[1] + h),
            {type: 'text', style: {text: number(api.value(3)), x: high[0] + 7, y: high[1],
              textVerticalAlign: 'middle', fill: soft, font: '12px system-ui, sans-serif'}}
          ]};
        }
      }]
    };
  }

  function draw() {
    charts.forEach(function (c) { c.chart.setOption(option(c.cell), true); });
  }

  document.querySelectorAll('.chart').forEach(function (box) {
    var cell = JSON.parse(box.querySelector('script').textContent);
    box.style.height = (cell.rows.length * 27 + 34) + 'px';
    var inner = document.createElement('div');
    inner.style.height = '100%';
    box.appendChild(inner);
    charts.push({chart: echarts.init(inner, null, {renderer: 'svg'}), cell: cell});
  });
  draw();
  window.addEventListener('resize', function () { charts.forEach(function (c) { c.chart.resize(); }); });
  window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
})();
